/** A model whose files lie elsewhere: what can be said of it before any of its weights is here. */
export type RemoteModel = {
  title: string;
  files: { path: string; sizeBytes: number }[];
  /** The object in a small JSON file; null where there is none. */
  readJson: (path: string) => Promise<Record<string, unknown> | null>;
};

/** Where a model would run here, in words, or the sentence without its full stop that says why it could not. */
export type Foreseen = { device: string; obstacle: null } | { device: null; obstacle: string };

/** Asked of the modules that use models. */
export type Foresee = (model: RemoteModel) => Promise<Foreseen>;
