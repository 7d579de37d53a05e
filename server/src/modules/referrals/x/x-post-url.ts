/** The URL of a post on X; it needs no username. */
export function xPostUrl(postId: string): string {
  return `https://x.com/i/web/status/${postId}`;
}
