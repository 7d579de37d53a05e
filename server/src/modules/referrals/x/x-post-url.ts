/** Returns the URL of a post on X, which works without a username. */
export function xPostUrl(postId: string): string {
  return `https://x.com/i/web/status/${postId}`;
}
