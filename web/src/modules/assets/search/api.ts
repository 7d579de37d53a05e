export { describeResult } from './describe-result.ts';
export { searchQuery } from './search-query.ts';
