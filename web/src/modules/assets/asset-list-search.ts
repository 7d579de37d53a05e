/** What of a list of assets is shown, and in which order: last changed first, and the user's own, unless said. */
export type AssetListSearch = {
  search?: string;
  tag?: string;
  sort?: 'title' | 'size';
  whose?: 'shared' | 'published';
};

export function parseAssetList({ search, tag, sort, whose }: Record<string, unknown>): AssetListSearch {
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    // A tag such as 2026 is a number in the address.
    ...((typeof tag === 'string' || typeof tag === 'number') && tag !== '' && { tag: String(tag) }),
    ...((sort === 'title' || sort === 'size') && { sort }),
    ...((whose === 'shared' || whose === 'published') && { whose }),
  };
}
