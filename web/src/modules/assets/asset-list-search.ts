/** Filter and order of an asset list. Defaults to the user's own assets, last changed first. */
export type AssetListSearch = {
  search?: string;
  tag?: string;
  sort?: 'title' | 'size';
  whose?: 'shared' | 'published';
};

export function parseAssetList({ search, tag, sort, whose }: Record<string, unknown>): AssetListSearch {
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    // The router parses a tag such as 2026 as a number.
    ...((typeof tag === 'string' || typeof tag === 'number') && tag !== '' && { tag: String(tag) }),
    ...((sort === 'title' || sort === 'size') && { sort }),
    ...((whose === 'shared' || whose === 'published') && { whose }),
  };
}
