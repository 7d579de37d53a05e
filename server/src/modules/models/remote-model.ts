/** A model on a remote host, described before its weights are downloaded. */
export type RemoteModel = {
  title: string;
  files: { path: string; sizeBytes: number }[];
  /** Parses a small JSON file; null if it does not exist. */
  readJson: (path: string) => Promise<Record<string, unknown> | null>;
};

/**
 * The device on which a model would run, or the sentence (without full stop) that explains why it could not.
 */
export type PredictedPlacement = { device: string; obstacle: null } | { device: null; obstacle: string };

/** Implemented by the modules that use models. */
export type PredictPlacement = (model: RemoteModel) => Promise<PredictedPlacement>;
