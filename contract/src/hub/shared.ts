import * as z from 'zod';

/** What the hub's clients read of an error; its code stands in the header `X-Error-Code`. */
export const hubError = z.object({
  error: z.string(),
  /** Of a repository that is there already: where. */
  url: z.string().optional(),
});

/** As the hub's paths name them. */
export const repositoryTypes = ['models', 'datasets'] as const;
export type RepositoryTypes = (typeof repositoryTypes)[number];
/** As its bodies name them. */
export const repositoryType = z.enum(['model', 'dataset'], 'Repositories here are models and datasets');

/** A part of a path. */
const word = z.string().min(1).max(200);

/** Params of what `/hub/api/…` says of one repository. */
export const repositoryParams = z.object({
  type: z.enum(repositoryTypes, 'Repositories here are models and datasets'),
  namespace: word,
  name: word,
});

/** `main`, a tag, or the id of a commit. */
export const revisionParam = z.string().min(1).max(300);
export const revisionParams = repositoryParams.extend({ revision: revisionParam });

/** A query's field that may come more than once. */
export const repeated = z
  .union([z.string(), z.array(z.string()).max(1000)])
  .default([])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/** A yes or no as the clients' languages write it. */
export const yesOrNo = z
  // A pattern rather than an enum: 'true' and 'True' are one name in generated clients.
  .union([z.boolean(), z.string().regex(/^([Tt]rue|[Ff]alse|[01])$/, 'must be true or false')])
  .default(false)
  .transform((value) => value === true || value === 'true' || value === 'True' || value === '1');

/** Where a file of Git LFS would point to: every file is told of so. */
const lfsPointer = z.object({ oid: z.string(), size: z.number(), pointerSize: z.int() });

const lastCommit = z.object({ id: z.string(), title: z.string(), date: z.string() });

/** A file or folder of a repository. */
export const treeEntry = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('file'),
    oid: z.string(),
    size: z.number(),
    path: z.string(),
    lfs: lfsPointer,
    lastCommit: lastCommit.optional(),
  }),
  z.object({ type: z.literal('directory'), oid: z.string(), size: z.literal(0), path: z.string() }),
]);
export type TreeEntry = z.infer<typeof treeEntry>;

export const sibling = z.object({
  rfilename: z.string(),
  size: z.number().optional(),
  blobId: z.string().optional(),
  lfs: z.object({ sha256: z.string(), size: z.number(), pointerSize: z.int() }).optional(),
});
