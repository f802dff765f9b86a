/** An event may have so many characters. */
const limit = 64 * 1024 * 1024

/** After this time without a byte a stream is broken, in milliseconds: the server writes every 15 s. */
const quiet = 60_000

/** Splits a stream of bytes into lines, without their ends. An unfinished line at the end is left out. Calls broken if nothing comes for a minute. */
export async function* lines(body: ReadableStream<Uint8Array<ArrayBuffer>>, broken: () => void): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  try {
    for (;;) {
      const timer = setTimeout(broken, quiet)
      const { done, value } = await reader.read().finally(() => clearTimeout(timer))
      if (done) return
      const parts = (rest + value).split('\n')
      rest = parts.pop() ?? ''
      if (rest.length > limit) throw new Error('a line of the stream is too long')
      for (const line of parts) yield line.replace(/\r$/, '')
    }
  } finally {
    await reader.cancel().catch(() => undefined) // the stream may have failed
  }
}
