type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** bases are what stood in the fields of forms before they were typed in, edited the fields that were. */
const bases = new WeakMap<Field, string>()
const edited = new Set<Field>()
let submitted: HTMLFormElement | null = null

/** fieldOf is the field of a form that an event is about; data-kept says that something else keeps what is typed. */
function fieldOf({ target }: Event): Field | undefined {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)) return undefined
  return target.form && !['search', 'file'].includes(target.type) && !target.closest('[data-kept]') ? target : undefined
}

const valueOf = (field: Field) => (['checkbox', 'radio'].includes(field.type) ? ((field as HTMLInputElement).checked ? 'on' : 'off') : field.value)

function isEdited(field: Field): boolean {
  if (!field.isConnected) edited.delete(field)
  const value = valueOf(field)
  return field.isConnected && value !== '' && value !== bases.get(field)
}

/** unsaved says whether something was typed in a part of the page that would be lost with it. */
export function unsaved(within: Element = document.documentElement): boolean {
  return [...edited].some((field) => within.contains(field) && isEdited(field))
}

/** saved forgets what was typed in the form that was submitted last. */
export function saved() {
  for (const field of edited) {
    if (field.form !== submitted) continue
    bases.set(field, valueOf(field))
    edited.delete(field)
  }
  submitted = null
}

let ask: (leave: () => void) => void = (leave) => leave()

/** onLeave is called with what to do when something that was typed would be lost. */
export function onLeave(next: typeof ask) {
  ask = next
}

/** leave does something that removes a part of the page, after asking if something was typed there. */
export function leave(run: () => void, within?: Element) {
  if (!unsaved(within)) return run()
  ask(() => {
    for (const field of edited) if (!within || within.contains(field)) edited.delete(field)
    run()
  })
}

/** watchTyping begins to note what is typed, and to ask before another page is opened. */
export function watchTyping() {
  addEventListener('focusin', (event) => {
    const field = fieldOf(event)
    if (field && !edited.has(field)) bases.set(field, valueOf(field))
  })
  addEventListener('input', (event) => {
    const field = fieldOf(event)
    if (field) edited.add(field)
  })
  addEventListener('submit', (event) => (submitted = event.target as HTMLFormElement), true)
  addEventListener('beforeunload', (event) => unsaved() && event.preventDefault())

  const push = history.pushState.bind(history)
  const replace = history.replaceState.bind(history)
  let here = location.href
  const elsewhere = (to: string) => new URL(to, here).pathname !== new URL(here).pathname
  const wrap = (go: typeof push): typeof push => (state, unused, to) => {
    const run = () => {
      go(state, unused, to)
      here = location.href
    }
    if (to && elsewhere(String(to))) leave(run)
    else run()
  }
  history.pushState = wrap(push)
  history.replaceState = wrap(replace)
  addEventListener(
    'popstate',
    (event) => {
      const to = location.href
      if (!elsewhere(to) || !unsaved()) {
        here = to
        return
      }
      event.stopImmediatePropagation()
      push(null, '', here)
      history.pushState(null, '', to)
    },
    true,
  )
}
