// SPDX-License-Identifier: Apache-2.0
// The site's search, without a worker and without a request, which browsers refuse to pages that are opened as files.
// scripts/documentation/pages.py puts it in place of MkDocs' main.js, and writes the index as index.js, which calls siteSearch().
(function () {
  var input = document.getElementById('mkdocs-search-query'), list = document.getElementById('mkdocs-search-results');
  if (!input || !list) return;

  function load(name) {
    var script = document.createElement('script');
    script.src = base_url + '/search/' + name;
    script.async = false; // lunr.js before index.js
    document.body.appendChild(script);
  }

  function excerpt(text, query) {
    var words = query.toLowerCase().match(/[\w.-]+/g) || [], lower = text.toLowerCase();
    var at = words.map(function (word) { return lower.indexOf(word) }).filter(function (place) { return place >= 0 });
    var begin = Math.max(0, (at.length ? Math.min.apply(null, at) : 0) - 60);
    return (begin ? '…' : '') + text.substring(begin, begin + 240) + '…';
  }

  function show(found, query) {
    list.textContent = found.length ? '' : list.getAttribute('data-no-results-text') || 'No results found';
    found.forEach(function (page) {
      var article = document.createElement('article'), link = document.createElement('a');
      link.href = base_url + '/' + page.location;
      link.textContent = page.title;
      article.appendChild(document.createElement('h3')).appendChild(link);
      article.appendChild(document.createElement('p')).textContent = excerpt(page.text, query);
      list.appendChild(article);
    });
  }

  window.siteSearch = function (data) {
    var pages = {};
    lunr.tokenizer.separator = new RegExp(data.config.separator);
    var index = lunr(function () {
      this.field('title', {boost: 4});
      this.field('text');
      this.ref('location');
      data.docs.forEach(function (page) { pages[page.location] = page; this.add(page) }, this);
    });
    function search() {
      var query = input.value.trim(), found = [];
      if (query.length >= data.config.min_search_length) {
        try { found = index.search(query) } catch (error) { found = index.search(query.replace(/[^\w\s-]/g, ' ')) } // lunr's own syntax
      }
      show(found.slice(0, 50).map(function (hit) { return pages[hit.ref] }), query);
    }
    input.addEventListener('input', search);
    input.value = new URLSearchParams(location.search).get('q') || '';
    search();
  };
  load('lunr.js');
  load('index.js');
})();
