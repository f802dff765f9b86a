import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { useMay } from '../../session'
import { t } from '../../text'
import { Check } from '../../ui/field'
import { useReferences } from '../../ui/reference-choice'
import { Failed } from '../../ui/parts'
import { readAccess, writeAccess } from './access'

/** usePermissions are all that there are, and those of the user. */
export function usePermissions() {
  return useQuery({ queryKey: ['permissions'], queryFn: () => got(api.GET('/user/permissions')), staleTime: 60_000 })
}

/**
 * Permissions are chosen from those that the user has: nobody grants another.
 * They may be limited to references.
 */
export function Permissions({ value, change, wrong }: { value: string[]; change: (next: string[]) => void; wrong: string | undefined }) {
  const list = usePermissions()
  if (list.error && !list.data) return <Failed error={list.error} again={() => void list.refetch()} />
  const catalogue = list.data?.catalogue ?? []
  const own = list.data?.permissions ?? []
  const limitable = new Set(catalogue.filter((one) => one.limitable).map((one) => one.name))
  const access = readAccess(value, limitable)
  const shown = access ?? { names: value.map((permission) => permission.split('@')[0] ?? ''), references: [] }
  const choose = (names: string[]) => change(writeAccess({ ...shown, names }, limitable))
  return (
    <>
      <fieldset className="permissions">
        <legend>{t('settings.permissions')}</legend>
        {catalogue.map((one) => (
          <Check
            key={one.name}
            label={one.name}
            hint={one.description}
            checked={shown.names.includes(one.name)}
            disabled={!access || !own.some((permission) => permission.split('@')[0] === one.name)}
            onChange={(event) => choose(event.target.checked ? [...shown.names, one.name] : shown.names.filter((name) => name !== one.name))}
          />
        ))}
        {wrong && (
          <span className="wrong" role="alert">
            {wrong}
          </span>
        )}
      </fieldset>
      {access ? (
        <Limits value={access.references} change={(references) => change(writeAccess({ ...access, references }, limitable))} />
      ) : (
        <p className="mute">
          {t('settings.mixedLimits')} <code>{value.join(', ')}</code>
        </p>
      )}
    </>
  )
}

/** Limits are the references that permissions are limited to. */
function Limits({ value, change }: { value: number[]; change: (next: number[]) => void }) {
  const sees = useMay('references.read')
  const references = useReferences(sees)
  const items = references.data?.items ?? []
  if (items.length === 0 && value.length === 0) return null
  const known = new Set(items.map((reference) => reference.id))
  const ids = [...items.map((reference) => reference.id), ...value.filter((id) => !known.has(id))]
  return (
    <fieldset className="permissions">
      <legend>{t('settings.limits')}</legend>
      {ids.map((id) => (
        <Check
          key={id}
          label={items.find((reference) => reference.id === id)?.name ?? String(id)}
          hint={String(id)}
          checked={value.includes(id)}
          onChange={(event) => change(event.target.checked ? [...value, id] : value.filter((one) => one !== id))}
        />
      ))}
      <span className="small mute">{t('settings.limitsText')}</span>
    </fieldset>
  )
}
