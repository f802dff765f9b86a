const stored = 'trunkline.keys'

/** singleKeys says whether single letters are shortcuts. */
export const singleKeys = () => localStorage.getItem(stored) !== 'off'

export function setSingleKeys(on: boolean) {
  localStorage.setItem(stored, on ? 'on' : 'off')
}

/** typing says whether a key belongs to what has the focus. */
function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

/** isShortcut says whether a key that was pressed is a shortcut, and not a part of what is typed. */
export function isShortcut(event: KeyboardEvent): boolean {
  return singleKeys() && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target) && !document.querySelector('dialog[open]')
}
