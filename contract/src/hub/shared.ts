import * as z from 'zod';

/** An error for hub clients. The header `X-Error-Code` contains its code. */
export const hubError = z.object({
  error: z.string(),
  /** The URL of an existing repository. */
  url: z.string().optional(),
});

/** Types in the hub's paths. */
export const repositoryTypes = ['models', 'datasets'] as const;
export type RepositoryTypes = (typeof repositoryTypes)[number];
/** Types in the hub's bodies. */
export const repositoryType = z.enum(['model', 'dataset'], 'Repositories here are models and datasets');

/** A path segment. */
const word = z.string().min(1).max(200);

/** Path parameters of `/hub/api/…` calls on one repository. */
export const repositoryParams = z.object({
  type: z.enum(repositoryTypes, 'Repositories here are models and datasets'),
  namespace: word,
  name: word,
});

/** `main`, a tag, or a commit id. */
export const revisionParam = z.string().min(1).max(300);
export const revisionParams = repositoryParams.extend({ revision: revisionParam });

/** A query parameter that may occur several times. */
export const repeatedField = (item: z.ZodString, max: number) =>
  z
    .union([item, z.array(item).max(max)])
    .default([])
    .transform((value) => [value].flat());
/** A text that may occur several times. */
export const repeated = repeatedField(z.string(), 1000);

/** A boolean, as written in the languages of the clients. */
export const yesOrNo = z
  // Not an enum, because 'true' and 'True' would get the same name in generated clients.
  .union([z.boolean(), z.string().regex(/^([Tt]rue|[Ff]alse|[01])$/, 'must be true or false')])
  .default(false)
  .transform((value) => value === true || value === 'true' || value === 'True' || value === '1');

/** Git LFS details, which are returned for every file. */
export const lfsPointer = z.object({ oid: z.string(), size: z.number(), pointerSize: z.int() });

export const lastCommit = z.object({ id: z.string(), title: z.string(), date: z.string() });

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
