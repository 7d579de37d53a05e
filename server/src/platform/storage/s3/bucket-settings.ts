/** Which bucket, and where. */
export type BucketSettings = {
  bucket: string;
  /** What all names begin with: '', or with a slash at the end. */
  prefix: string;
  /** Null: that of AWS. */
  endpoint: string | null;
  /** Null: the one that the SDK finds. */
  region: string | null;
  pathStyle: boolean;
};
