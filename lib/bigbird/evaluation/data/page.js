document.querySelectorAll('table.sortable th').forEach(function(head){head.tabIndex=0;head.title='Sort';
function sort(){var table=head.closest('table'),body=table.tBodies[0],rows=Array.from(body.rows),column=head.cellIndex,down=head.getAttribute('aria-sort')!=='descending';
table.querySelectorAll('th').forEach(function(other){other.removeAttribute('aria-sort')});head.setAttribute('aria-sort',down?'descending':'ascending');
var key=function(row){var text=row.cells[column].textContent;return head.classList.contains('text')?text.toLowerCase():isNaN(parseFloat(text))?-Infinity:parseFloat(text)};
rows.sort(function(a,b){var x=key(a),y=key(b);return (x<y?-1:x>y?1:0)*(down?-1:1)}).forEach(function(row){body.appendChild(row)})}
head.onclick=sort;head.onkeydown=function(event){if(event.key==='Enter')sort()}});
