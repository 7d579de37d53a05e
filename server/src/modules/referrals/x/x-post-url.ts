/** Where a post stands, whoever wrote it. */
export function xPostUrl(postId: string): string {
  return `https://x.com/i/web/status/${postId}`;
}
