/**
 * The text of a response's body as it comes; who stops reading ends the response. Over a reader: no Safari of 2026
 * iterates a stream itself.
 */
export async function* textPieces(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Of a stream that broke it is refused with what broke it, which the reader has thrown already.
    await reader.cancel().catch(() => {});
  }
}
