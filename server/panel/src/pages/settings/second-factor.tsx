import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got } from '../../api/client'
import { client } from '../../api/query'
import { t, time } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { Input } from '../../ui/field'
import { Badge, Button, Code, Failed, Refused } from '../../ui/parts'

type Step = 'enrol' | 'recovery' | 'disable'

/** SecondFactor turns codes of an authenticator app on and off. */
export function SecondFactor() {
  const [step, setStep] = useState<Step | null>(null)
  const state = useQuery({ queryKey: ['second-factor'], queryFn: () => got(api.GET('/user/second-factor')) })
  if (state.error && !state.data) return <Failed error={state.error} again={() => void state.refetch()} />
  const close = () => {
    setStep(null)
    void client.invalidateQueries({ queryKey: ['second-factor'] })
  }
  return (
    <section className="card stack" aria-labelledby="factor">
      <h2 id="factor">{t('factor.title')}</h2>
      <p className="mute">{t('factor.text')}</p>
      {state.data?.enabled ? (
        <>
          <p>
            <Badge tone="ok">{t('factor.on')}</Badge> {state.data.since != null && <span className="small mute">{t('settings.since', { at: time(state.data.since) })}</span>}{' '}
            <span className="small mute">{t('factor.left', { n: String(state.data.recoveryCodes) })}</span>
          </p>
          <div className="row">
            <Button onClick={() => setStep('recovery')}>{t('factor.newCodes')}</Button>
            <Button tone="bad" onClick={() => setStep('disable')}>
              {t('factor.disable')}
            </Button>
          </div>
        </>
      ) : (
        <div>
          <Button onClick={() => setStep('enrol')}>{t('factor.enable')}</Button>
        </div>
      )}
      {step === 'enrol' && <Enrol close={close} />}
      {step === 'recovery' && <Recovery close={close} />}
      {step === 'disable' && <Disable close={close} />}
    </section>
  )
}

/** Password asks for the password before something is done. */
function Password({ action, busy, wrong, error, run }: { action: string; busy: boolean; wrong: string | undefined; error: Error | null; run: (password: string) => void }) {
  const [password, setPassword] = useState('')
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        run(password)
      }}
    >
      <Refused error={error} />
      <Input label={t('settings.currentPassword')} type="password" autoComplete="current-password" value={password} onChange={(e) => setPassword(e.target.value)} wrong={wrong} required autoFocus />
      <div>
        <Button type="submit" tone="main" busy={busy}>
          {action}
        </Button>
      </div>
    </form>
  )
}

function Enrol({ close }: { close: () => void }) {
  const [code, setCode] = useState('')
  const begin = useAct((password: string) => got(api.POST('/user/second-factor', { body: { password } })), { quiet: true })
  const confirm = useAct(() => got(api.POST('/user/second-factor/confirm', { body: { code } })), { quiet: true })
  if (confirm.data) return <Codes codes={confirm.data.recoveryCodes} close={close} />
  return (
    <Dialog title={t('factor.enable')} close={close}>
      {!begin.data ? (
        <Password action={t('factor.continue')} busy={begin.isPending} wrong={begin.wrong('password')} error={begin.error} run={begin.mutate} />
      ) : (
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            confirm.mutate(undefined)
          }}
        >
          <p>{t('factor.scan')}</p>
          <img className="qr" src={begin.data.qr} alt={t('factor.qr')} width={200} height={200} />
          <Code>{begin.data.secret}</Code>
          <Refused error={confirm.error} />
          <Input label={t('session.code')} value={code} onChange={(e) => setCode(e.target.value)} wrong={confirm.wrong('code')} autoComplete="one-time-code" inputMode="numeric" required autoFocus />
          <div>
            <Button type="submit" tone="main" busy={confirm.isPending}>
              {t('factor.confirm')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function Recovery({ close }: { close: () => void }) {
  const act = useAct((password: string) => got(api.POST('/user/second-factor/recovery', { body: { password } })), { quiet: true })
  if (act.data) return <Codes codes={act.data.recoveryCodes} close={close} />
  return (
    <Dialog title={t('factor.newCodes')} close={close}>
      <Password action={t('factor.newCodes')} busy={act.isPending} wrong={act.wrong('password')} error={act.error} run={act.mutate} />
    </Dialog>
  )
}

function Disable({ close }: { close: () => void }) {
  const act = useAct((password: string) => got(api.DELETE('/user/second-factor', { body: { password } })), { said: t('saved'), then: close, quiet: true })
  return (
    <Dialog title={t('factor.disable')} close={close}>
      <Password action={t('factor.disable')} busy={act.isPending} wrong={act.wrong('password')} error={act.error} run={act.mutate} />
    </Dialog>
  )
}

/** Codes are shown once. */
function Codes({ codes, close }: { codes: string[]; close: () => void }) {
  return (
    <Dialog title={t('factor.codes')} close={close} footer={<Button onClick={close}>{t('close')}</Button>}>
      <div className="stack">
        <p>{t('factor.codesText')}</p>
        <Code>{codes.join('\n')}</Code>
      </div>
    </Dialog>
  )
}
