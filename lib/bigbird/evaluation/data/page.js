document.querySelectorAll('table.labels th').forEach(function(head,column){head.onclick=function(){
var body=head.closest('table').tBodies[0],rows=Array.from(body.rows),down=head.dataset.down!=='1';
head.dataset.down=down?'1':'0';
var key=function(row){var text=row.cells[column].textContent,number=parseFloat(text);return isNaN(number)?(text==='NA'?-Infinity:text):number};
rows.sort(function(a,b){var x=key(a),y=key(b);return (x<y?-1:x>y?1:0)*(down?-1:1)}).forEach(function(row){body.appendChild(row)})}});
