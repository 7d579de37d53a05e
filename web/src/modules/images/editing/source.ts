/** The picture that is edited. */
export type Source =
  | { file: File }
  /** What this generation has made; of several pictures this one, else the first. */
  | { generationId: string; outputId?: string }
  /** What this generation was made from. */
  | { sameAsId: string };
