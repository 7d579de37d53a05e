/** Has the browser download what lies at an address of this server, under `fileName`, with its own progress. */
export function downloadFrom(url: string, fileName: string): void {
  Object.assign(document.createElement('a'), { href: url, download: fileName }).click();
}

/** Offers the blob as a download under `fileName`. */
export function saveAs(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  downloadFrom(url, fileName);
  // The click only starts the save; the address must outlive it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
