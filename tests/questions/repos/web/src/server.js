'use strict'

const http = require('http')
const { parseQuery, escapeHtml } = require('./query')
const render = require('./render')

/**
 * Start the server on a port.
 */
function startServer (port) {
  const server = http.createServer(onRequest)
  server.listen(port)
  return server
}

function onRequest (req, res) {
  const query = parseQuery(req.url)
  if (!query.page) {
    throw new TypeError('page is missing')
  }
  res.end(render(escapeHtml(query.page)))
}

module.exports = { startServer }
