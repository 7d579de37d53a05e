import { expect, test } from 'vitest';
import { searchSchema } from '../../../../lib/url-search.ts';
import { rowsParams } from './rows-location.ts';

test.each([
  [{}, {}],
  [
    { view: 'columns', offset: 10_000 },
    { view: 'columns', offset: 10_000 },
  ],
  [{ view: 'rows', offset: 0 }, {}],
  // Rounded down to the row's page.
  [{ offset: 10_042 }, { offset: 10_000 }],
  [{ offset: 99 }, {}],
  [{ offset: -100 }, {}],
  [{ offset: 1.5 }, {}],
  [{ offset: 'x', view: 7 }, {}],
  [{ search: 'rye' }, { search: 'rye' }],
  [{ search: 500 }, { search: '500' }],
  [{ search: '' }, {}],
  [
    { filters: [{ column: 'n', of: 'value', min: 1 }, { column: 7 }, 'x'] },
    { filters: [{ column: 'n', of: 'value', min: 1 }] },
  ],
  [{ filters: [] }, {}],
  [{ filters: 'x' }, {}],
])('%j is parsed as %j', (search, place) => {
  expect(searchSchema(rowsParams)(search)).toEqual(place);
});
