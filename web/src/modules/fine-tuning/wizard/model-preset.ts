/** Initial values of the Create Model wizard; for a dataset, optionally one of its files. */
export type ModelPreset = {
  dataset?: string | undefined;
  dataFile?: string | undefined;
  baseModel?: string | undefined;
  modelType?: 'finetune' | undefined;
  /** Opens the one-screen form with suggested settings, for a known dataset. */
  settings?: 'suggested' | undefined;
  /** Id of dropped files to upload as a model. */
  dropped?: string | undefined;
};
