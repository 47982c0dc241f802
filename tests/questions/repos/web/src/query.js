// parseQuery is also used by the command line
exports.parseQuery = function parseQuery (url) {
  const out = {}
  for (const part of url.split('?')[1].split('&')) {
    const [key, value] = part.split('=')
    out[key] = value
  }
  return out
}

exports.escapeHtml = (text) => text.replace(/</g, '&lt;')
