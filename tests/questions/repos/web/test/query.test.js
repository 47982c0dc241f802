const { parseQuery } = require('../src/query')

test('parseQuery splits', () => {
  expect(parseQuery('/?page=1')).toEqual({ page: '1' })
})
