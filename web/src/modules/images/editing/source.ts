/** The picture that is edited. */
export type Source =
  | { file: File }
  /** What this generation has made. */
  | { generationId: string }
  /** What this generation was made from. */
  | { sameAsId: string };
