/** A model on a remote host whose weights are not downloaded yet. */
export type RemoteModel = {
  title: string;
  files: { path: string; sizeBytes: number }[];
  /** Parses a small JSON file; null if it does not exist. */
  readJson: (path: string) => Promise<Record<string, unknown> | null>;
};

/**
 * The device on which a model would run, or a sentence without a full stop that explains why no device can
 * run it.
 */
export type PredictedPlacement = { device: string; obstacle: null } | { device: null; obstacle: string };

/** Predicts on which device a model would run. The serving and training modules implement it. */
export type PredictPlacement = (model: RemoteModel) => Promise<PredictedPlacement>;
