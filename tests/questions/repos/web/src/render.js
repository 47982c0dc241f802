const { escapeHtml } = require('./query')

module.exports = function render (page) {
  return `<h1>${escapeHtml(page)}</h1>`
}
