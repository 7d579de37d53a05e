/** Makes the browser download a URL of this server as `fileName`, with the browser's own progress. */
export function downloadFrom(url: string, fileName: string): void {
  Object.assign(document.createElement('a'), { href: url, download: fileName }).click();
}

/** Downloads the blob as `fileName`. */
export function saveAs(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  downloadFrom(url, fileName);
  // The click only starts the download; the URL must outlive it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
