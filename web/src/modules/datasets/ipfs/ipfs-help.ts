/** Explains the IPFS choice and what becomes public. */
export const IPFS_HELP =
  'Gives each version and file an IPFS address (CID). Anyone who knows the address of a pinned file can read it.';
