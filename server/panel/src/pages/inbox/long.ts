/** longest is how many characters may be written: as many as the longest message of any network has. */
export const longest = 65_536

/** Selected is a text field and what is selected in it. */
interface Selected {
  value: string
  selectionStart: number
  selectionEnd: number
}

/**
 * tooLong says whether a text that is pasted would make what is written too long. A browser that has to lay out a word of a
 * million letters answers nothing for a long while.
 */
export function tooLong(field: Selected, pasted: string): boolean {
  return field.value.length - (field.selectionEnd - field.selectionStart) + pasted.length > longest
}

/** after is what stays of a text when a part of it was sent: what was written meanwhile. */
export function after(sent: string, now: string): string {
  const text = now.trimStart()
  return text.startsWith(sent.trimStart()) ? text.slice(sent.trimStart().length).trimStart() : now
}
