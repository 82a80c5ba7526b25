// SPDX-License-Identifier: Apache-2.0
// A button on each block of code that copies it: of blocks with prompts the commands, without `$ ` and without what they print.
(function () {
  function commands(text) {
    if (!/^\$ /m.test(text)) return text;
    return text.split(/^(?=\$ )/m).filter(function (part) { return part.startsWith('$ ') }).map(function (part) {
      var lines = part.substring(2).split('\n'), end = 0;
      while (lines[end].endsWith('\\') && end + 1 < lines.length) end++;
      return lines.slice(0, end + 1).join('\n') + '\n';
    }).join('');
  }

  function copy(text) {
    var area = document.createElement('textarea');  // works in pages that are opened as files, too
    area.value = text;
    document.body.appendChild(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }

  document.querySelectorAll('pre > code').forEach(function (code) {
    var button = document.createElement('button');
    button.textContent = 'Copy';
    button.className = 'copy';
    button.addEventListener('click', function () {
      copy(commands(code.textContent));
      button.textContent = 'Copied';
      setTimeout(function () { button.textContent = 'Copy' }, 1500);
    });
    code.parentNode.insertBefore(button, code);
  });
})();
