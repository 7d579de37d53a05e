/** The header that names a file for whoever saves it. */
export function contentDisposition(type: 'attachment' | 'inline', path: string): string {
  return `${type}; filename*=UTF-8''${encodeFileName(path.split('/').at(-1) ?? path)}`;
}

/** RFC 8187: what encodeURIComponent leaves alone, less the four that the header gives a meaning. */
function encodeFileName(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
