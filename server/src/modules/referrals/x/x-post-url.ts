/** Returns the URL of a post on X. This form of the URL needs no username. */
export function xPostUrl(postId: string): string {
  return `https://x.com/i/web/status/${postId}`;
}
