/** Access is a list of permissions as a form shows it. */
export interface Access {
  names: string[]
  /** The references that the permissions are limited to; empty: to none, they hold for all. */
  references: number[]
}

/** readAccess reads a list of permissions. It is null for lists that a form with one set of references cannot show. */
export function readAccess(permissions: readonly string[], limitable: ReadonlySet<string>): Access | null {
  const names: string[] = []
  const limits = new Map<string, number[]>()
  for (const permission of permissions) {
    const [name = '', reference] = permission.split('@')
    if (!names.includes(name)) names.push(name)
    if (!limitable.has(name)) continue
    limits.set(name, [...(limits.get(name) ?? []), ...(reference === undefined ? [] : [Number(reference)])])
  }
  const sets = new Set([...limits.values()].map((ids) => sorted(ids).join()))
  if (sets.size > 1) return null
  const [first] = limits.values()
  return { names, references: sorted(first ?? []) }
}

/** writeAccess is the list of permissions that a form stands for. */
export function writeAccess({ names, references }: Access, limitable: ReadonlySet<string>): string[] {
  return names.flatMap((name) => (references.length > 0 && limitable.has(name) ? sorted(references).map((id) => `${name}@${id}`) : [name]))
}

const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b)
