import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Confirm, Dialog } from '../../ui/dialog'
import { Input, Select } from '../../ui/field'
import { Badge, Button, Curl, Failed, Loading, Notice } from '../../ui/parts'
import { useGo } from '../../ui/query-state'
import type { Config, Extractor } from './config'
import { ConfigForm } from './form'
import { nameOf, read, useScopes, written } from './scope'
import { Tests } from './tests'
import { Training } from './training'
import { TryIt } from './tryit'

/** OneExtractor is read again while it learns. */
export function OneExtractor({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['extractor', id],
    queryFn: () => got(api.GET('/extractor/{extractorId}', { params: { path: { extractorId: id } } })),
    refetchInterval: (known) => (known.state.data?.training === 'training' ? 1_000 : false),
  })
  if (query.isPending) return <Loading />
  if (query.error && !query.data) {
    return (
      <div className="page">
        <Failed error={query.error} again={() => void query.refetch()} />
      </div>
    )
  }
  return <Known extractor={query.data} />
}

const stored = (id: string) => `trunkline.extractor.${id}`

/** useDraft is what is looked for, changed but not saved; a reload keeps it. */
function useDraft(extractor: Extractor) {
  const saved = extractor.config as Config
  const [draft, setDraft] = useState<Config | null>(() => JSON.parse(sessionStorage.getItem(stored(extractor.id)) ?? 'null') as Config | null)
  const write = (next: Config | null) => {
    const differs = next && JSON.stringify(next) !== JSON.stringify(saved)
    setDraft(differs ? next : null)
    if (differs) sessionStorage.setItem(stored(extractor.id), JSON.stringify(next))
    else sessionStorage.removeItem(stored(extractor.id))
  }
  /** kept forgets a draft that was saved, unless it has changed since. */
  const kept = (sent: Config) => {
    const same = (now: Config | null) => JSON.stringify(now) === JSON.stringify(sent)
    setDraft((now) => (same(now) ? null : now))
    if (sessionStorage.getItem(stored(extractor.id)) === JSON.stringify(sent)) sessionStorage.removeItem(stored(extractor.id))
  }
  return { config: draft ?? saved, changed: draft !== null, write, kept }
}

function Known({ extractor }: { extractor: Extractor }) {
  const { id } = extractor
  const go = useGo()
  const scopes = useScopes()
  const [open, setOpen] = useState<'change' | 'delete' | null>(null)
  const [attempt, setAttempt] = useState(0) // forms that hold text of their own begin anew with it
  const draft = useDraft(extractor)
  const path = { params: { path: { extractorId: id } } }
  const known = (next: Extractor) => {
    client.setQueryData(['extractor', id], next)
    void client.invalidateQueries({ queryKey: ['extractors'] })
  }
  const save = useAct((config: Config) => got(api.PATCH('/extractor/{extractorId}', { ...path, body: { config: config as never } })), {
    quiet: true,
    then: (next, sent) => {
      known(next)
      draft.kept(sent)
    },
  })
  // One that reads no messages and learns nothing is saved while it is written, so that it can be tried at once.
  const atOnce = !extractor.enabled && (extractor.kind === 'regex' || extractor.kind === 'entity')
  const unsaved = draft.changed ? JSON.stringify(draft.config) : ''
  useEffect(() => {
    if (!atOnce || !unsaved) return
    const due = setTimeout(() => save.mutate(JSON.parse(unsaved) as Config), 600)
    return () => clearTimeout(due)
  }, [atOnce, unsaved])
  const enable = useAct(() => got(api.PATCH('/extractor/{extractorId}', { ...path, body: { enabled: !extractor.enabled } })), { then: known })
  const remove = useAct(() => got(api.DELETE('/extractor/{extractorId}', path)), {
    then: async () => {
      sessionStorage.removeItem(stored(id))
      await client.invalidateQueries({ queryKey: ['extractors'], refetchType: 'all' }) // the list is read before it is shown
      go('/extractors')
    },
  })
  return (
    <div className="page">
      <header>
        <div className="row">
          <Link className="button quiet square" href="/extractors" aria-label={t('extractors.title')}>
            ‹
          </Link>
          <h1 dir="auto">{extractor.name}</h1>
          <Badge>{t(`extractors.kind.${extractor.kind}`)}</Badge>
          <Training extractor={extractor} />
        </div>
        <div className="row">
          <Button role="switch" aria-checked={extractor.enabled} busy={enable.isPending} onClick={() => enable.mutate(undefined)}>
            {t(extractor.enabled ? 'extractors.switchOff' : 'extractors.switchOn')}
          </Button>
          <Button onClick={() => setOpen('change')}>{t('extractors.change')}</Button>
          <Button tone="bad" icon="trash" label={t('extractors.delete', { name: extractor.name })} onClick={() => setOpen('delete')} />
        </div>
      </header>
      <p className="small mute">
        <bdi>{nameOf(extractor.scope, scopes)}</bdi> · {time(extractor.updatedAt)}
      </p>
      {!extractor.enabled && <Notice tone="warn">{t('extractors.offText')}</Notice>}
      {extractor.trainingError && <Notice tone="bad">{extractor.trainingError}</Notice>}
      <div className="extractor-two" data-kept>
        <form
          className="card stack"
          aria-label={t('extractors.looksFor')}
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate(draft.config)
          }}
        >
          <h2>{t('extractors.looksFor')}</h2>
          <ConfigForm key={attempt} kind={extractor.kind} config={draft.config} change={draft.write} problem={save.problem} />
          {save.error && !save.problem?.errors.length && <Notice tone="bad">{save.error.message}</Notice>}
          <div className="row">
            <Button type="submit" tone="main" busy={save.isPending} disabled={save.isPending || !draft.changed}>
              {t('save')}
            </Button>
            {draft.changed && (
              <Button
                onClick={() => {
                  draft.write(null)
                  save.reset()
                  setAttempt(attempt + 1)
                }}
              >
                {t('extractors.undo')}
              </Button>
            )}
            <span className="small mute">{draft.changed ? t('extractors.unsaved') : atOnce && t('extractors.atOnce')}</span>
          </div>
        </form>
        <TryIt extractor={extractor} changed={draft.changed && !atOnce} keep={(test) => draft.write({ ...draft.config, tests: [...(draft.config.tests ?? []), test] })} />
      </div>
      <Tests key={`tests ${attempt}`} extractor={extractor} config={draft.config} changed={draft.changed} change={draft.write} save={() => save.mutate(draft.config)} saving={save.isPending} problem={save.problem} />
      <Curl path={`/extractor/${id}`} />
      {open === 'change' && <Change extractor={extractor} scopes={scopes} close={() => setOpen(null)} done={known} />}
      {open === 'delete' && (
        <Confirm title={t('extractors.delete', { name: extractor.name })} text={t('extractors.deleteText')} action={t('extractors.deleteDo')} busy={remove.isPending} run={() => remove.mutate(undefined)} close={() => setOpen(null)} />
      )}
    </div>
  )
}

/** Change asks for what does not belong to the kind. */
function Change({ extractor, scopes, close, done }: { extractor: Extractor; scopes: { value: string; label: string }[]; close: () => void; done: (next: Extractor) => void }) {
  const [name, setName] = useState(extractor.name)
  const [scope, setScope] = useState(written(extractor.scope))
  const options = scopes.some((one) => one.value === scope) ? scopes : [{ value: scope, label: scope }, ...scopes]
  const act = useAct(() => got(api.PATCH('/extractor/{extractorId}', { params: { path: { extractorId: extractor.id } }, body: { name, ...(scope === written(extractor.scope) ? {} : { scope: read(scope) }) } })), {
    said: t('saved'),
    then: (next) => {
      done(next)
      close()
    },
  })
  return (
    <Dialog title={t('extractors.change')} close={close}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <Input label={t('extractors.name')} hint={t('extractors.nameHint')} dir="auto" value={name} onChange={(e) => setName(e.target.value)} wrong={act.wrong('name')} maxLength={200} autoComplete="off" required />
        <Select label={t('extractors.of')} value={scope} onChange={(e) => setScope(e.target.value)} options={options} wrong={act.wrong('scope') ?? act.wrong('scope.reference') ?? act.wrong('scope.bot') ?? act.wrong('scope.flow')} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('save')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
    </Dialog>
  )
}
