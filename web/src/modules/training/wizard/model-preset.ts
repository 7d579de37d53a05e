/** What the Create Model wizard begins with; of a dataset also one of its files. */
export type ModelPreset = {
  dataset?: string | undefined;
  dataFile?: string | undefined;
  baseModel?: string | undefined;
  modelType?: 'finetune' | undefined;
  /** One screen with suggested settings, where the dataset is known. */
  settings?: 'suggested' | undefined;
  /** The id of what was dropped on the page: the files of a model. */
  dropped?: string | undefined;
};
