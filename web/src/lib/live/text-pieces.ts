/**
 * Yields the decoded text of a response body. Stopping early cancels the response. Uses a reader because
 * Safari (2026) doesn't support async iteration of streams.
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
    // On a broken stream, cancel rejects with the error that read has already thrown.
    await reader.cancel().catch(() => {});
  }
}
