import { oneOf, type SearchOf, searchSchema, text } from '../../lib/url-search.ts';

/** Filter and order of an asset list. Defaults to the user's own assets, last changed first. */
export const assetListSearch = searchSchema({
  search: text,
  tag: text,
  sort: oneOf('title', 'size'),
  whose: oneOf('shared', 'published'),
});
export type AssetListSearch = SearchOf<typeof assetListSearch>;

/** The open tab of an asset's page, with its file and revision or with its commit and folder. */
export const assetPageParams = { tab: text, file: text, revision: text, commit: text, folder: text };
