type Turn = { role: string; content: string };

/** Parses a cell of preference data as OpenAI or ShareGPT turns; null for other content. */
export function turnsOf(value: unknown): Turn[] | null {
  const list = isRecord(value) ? value.messages : value;
  if (!Array.isArray(list) || list.length === 0) return null;
  const turns = list.flatMap((one: unknown) => turnOf(one) ?? []);
  return turns.length === list.length ? turns : null;
}

function turnOf(value: unknown): Turn | null {
  if (!isRecord(value)) return null;
  const role = value.role ?? value.from;
  const content = value.content ?? value.value;
  return typeof role === 'string' && typeof content === 'string' ? { role, content } : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
