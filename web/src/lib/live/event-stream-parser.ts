/** `event` is null if only an id was sent. */
export type ServerSentEvent = { event: string | null; data: string; id: string | null };

/**
 * Parses a server-sent event stream. Accepts chunks cut anywhere and returns the events that each one
 * completes.
 */
export function eventStreamParser(): (piece: string) => ServerSentEvent[] {
  let rest = '';
  return (piece) => {
    rest = (rest + piece).replaceAll('\r\n', '\n');
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    return blocks.map(parseBlock).filter((event) => event !== null);
  };
}

function parseBlock(block: string): ServerSentEvent | null {
  let event = 'message';
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const value = line.slice(line.indexOf(':') + 1).replace(/^ /, '');
    if (line.startsWith('event:')) event = value;
    if (line.startsWith('data:')) data.push(value);
    if (line.startsWith('id:')) id = value;
  }
  if (data.length === 0) return id === null ? null : { event: null, data: '', id };
  return { event, data: data.join('\n'), id };
}
