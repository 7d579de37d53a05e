import { oneOf, type SearchOf, searchSchema, text } from '../../lib/url-search.ts';

/** Filter and order of an asset list. Defaults to the user's own assets, last changed first. */
export const assetListSearch = searchSchema({
  search: text,
  tag: text,
  sort: oneOf('title', 'size'),
  whose: oneOf('shared', 'published'),
});
export type AssetListSearch = SearchOf<typeof assetListSearch>;

/** The tab of an asset's page, and either the file and its revision or the commit and its open folder. */
export const assetPageParams = { tab: text, file: text, revision: text, commit: text, folder: text };
