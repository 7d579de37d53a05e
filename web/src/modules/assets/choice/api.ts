// Apart from the other api.ts, which is on the first screen: a combobox is not.
export { assetQuery } from '../asset-queries.ts';
export { AssetField } from './asset-field.tsx';
export { FileField } from './file-field.tsx';
