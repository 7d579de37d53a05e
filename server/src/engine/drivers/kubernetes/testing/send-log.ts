import type http from 'node:http';

/** Responds like a container log: the last lines, or lines since a time, with timestamps if requested. */
export function sendLog(response: http.ServerResponse, lines: string[], query: URLSearchParams): void {
  const tail = Number(query.get('tailLines') ?? lines.length);
  const from = query.get('sinceTime') ?? '';
  const numbered = lines.map((line, index) => ({
    line,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, 0, index)).toISOString(),
  }));
  const wanted = numbered.filter(({ at }) => at >= from).slice(numbered.length > tail ? -tail : 0);
  const isTimed = query.get('timestamps') === 'true';
  response.end(wanted.map(({ line, at }) => `${isTimed ? `${at} ` : ''}${line}\n`).join(''));
}
