export { foundThing } from './found-thing.ts';
export { searchQuery } from './search-query.ts';
