/** The picture that is edited. */
export type Source =
  | ({ file: File } & Edited)
  /** What this generation has made; of several pictures this one, else the first. */
  | { generationId: string; outputId?: string }
  /** What this generation was made from. */
  | ({ sameAsId: string } & Edited);

/** The last edit that was begun of it. Where a file is gone, after a reload, its picture is had from there. */
type Edited = { editId?: string };
