/** Settings of the bucket. */
export type BucketSettings = {
  bucket: string;
  /** Prefix of all names: '', or with a trailing slash. */
  prefix: string;
  /** Null for AWS's endpoint. */
  endpoint: string | null;
  /** Null for the region found by the SDK. */
  region: string | null;
  pathStyle: boolean;
};
