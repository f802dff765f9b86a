import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { t } from '../../text'
import { Check } from '../../ui/field'
import { Failed } from '../../ui/parts'

/** usePermissions are all that there are, and those of the user. */
export function usePermissions() {
  return useQuery({ queryKey: ['permissions'], queryFn: () => got(api.GET('/user/permissions')), staleTime: 60_000 })
}

/** Permissions are chosen from those that the user has: nobody grants another. */
export function Permissions({ value, change, wrong }: { value: string[]; change: (next: string[]) => void; wrong: string | undefined }) {
  const list = usePermissions()
  const own = new Set(list.data?.permissions)
  if (list.error) return <Failed error={list.error} again={() => void list.refetch()} />
  return (
    <fieldset className="permissions">
      <legend>{t('settings.permissions')}</legend>
      {(list.data?.catalogue ?? []).map((one) => (
        <Check
          key={one.name}
          label={one.name}
          hint={one.description}
          checked={value.includes(one.name)}
          disabled={!own.has(one.name)}
          onChange={(event) => change(event.target.checked ? [...value, one.name] : value.filter((name) => name !== one.name))}
        />
      ))}
      {wrong && (
        <span className="wrong" role="alert">
          {wrong}
        </span>
      )}
    </fieldset>
  )
}
