import { useLocation, useSearchParams } from 'wouter'

/**
 * useFilter keeps a filter in the address, so that a page can be linked and reloaded as it is. One that is
 * typed is no step to go back to for each of its letters.
 */
export function useFilter(name: string, typed = false): [string, (value: string) => void] {
  const [params, set] = useSearchParams()
  return [
    params.get(name) ?? '',
    (value) =>
      set(
        (before) => {
          const next = new URLSearchParams(before)
          if (value) next.set(name, value)
          else next.delete(name)
          return next
        },
        { replace: typed },
      ),
  ]
}

/** useGo goes to another page of the panel. */
export function useGo() {
  return useLocation()[1]
}
