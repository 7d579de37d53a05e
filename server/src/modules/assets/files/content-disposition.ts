/** Returns the header with the name under which a file is saved. */
export function contentDisposition(type: 'attachment' | 'inline', path: string): string {
  return `${type}; filename*=UTF-8''${encodeFileName(path.split('/').at(-1) ?? path)}`;
}

/** RFC 8187: escapes what encodeURIComponent leaves unescaped but the header reserves. */
function encodeFileName(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
