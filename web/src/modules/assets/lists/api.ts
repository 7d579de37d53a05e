/** What the first screen needs of this module, apart from the files and uploads that it does not. */
export { assetListQuery } from '../asset-queries.ts';
