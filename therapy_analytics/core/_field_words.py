"""Words in the names of fields, by which `identity` tells what fields hold; in small letters, without accents."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PEOPLE = _set("""
client patient participant counselor counsellor therapist clinician provider seeker supporter helper
listener coach user caller customer agent case dyad couple family subject subj klient klientin
patientin therapeut therapeutin paciente terapeuta cliente
""")
"""Who takes part in a session."""
SESSIONS = _set("""
session conversation conv dialogue dialog chat call interview transcript thread encounter visit
recording sitzung sesion seance seduta sessao sessie sesja
""")
"""What a session is called."""
KNOWN = _set("""
id uuid session client patient participant counselor counsellor therapist clinician provider pid
case dyad study_id record_id date session_date date_of_session day started_at created_at create_time
timestamp created start_time recorded_at recorded_date recording_date interview_date visit_date
encounter_date call_date chat_date appointment_date time datetime date_time datum fecha data jour
number visit week wave timepoint time_point source data_source dataset corpus split simulator
condition arm group treatment intervention cohort variant study_arm treatment_arm treatment_group
study_group experiment bedingung gruppe condicion grupo groupe language lang locale idioma sprache
langue lingua taal
""")
"""Names of facts of known meaning."""
ID_ENDS = _set("""
id no nr num number code index idx uuid
""")
"""How names of ids and numbers end."""
MEASURED = _set("""
count n total score scores rating rate ratio mean avg average sum max min duration seconds sec ms
minutes length len size words turns tokens percent pct age year years
""")
"""Words of names that measure: their numbers may be large, and are not what the rest of the name says."""
NEVER_MEASURED = _set("""
dob yob born birth ssn
""")
"""Words beside which nothing is a measure."""
THINGS = _set("""
model dataset corpus condition group arm scenario task language persona template version split
variant scale measure topic item site cluster batch config prompt codebook trial attempt seed stage
step level block question module
""")
"""What has a name or a number of its own and is nobody."""
NO_TEXT = _set("""
id ids idx index code label type kind language date emotion role topic act category class level
""")
"""Beside these a word for talk names something about it: ``question_type``."""
OF_A_PERSON = _set("""
email mail ph phone telephone mobile dob birthdate birthday address password ssn mrn ip url token
""")
"""Last words of the names of columns that hold people's names, addresses or numbers."""
NAMED = {
    "identity": _set("""
name names nbr attending admission discharge numero dob bday yob born age_of_birth ssn sin nino nin
nhs mrn npi ein itin tin tax national citizen passport driver plate vin vehicle insurance insurer
insured policy subscriber beneficiary medicare medicaid payer account iban bic swift bank routing
initials alias nick salutation honorific maiden surname forename signature photo picture image
avatar face selfie fingerprint voiceprint biometric employer employee badge school firm workplace
occupation owner creator author host organizer organiser attendee attendees invitee invitees guest
guests guarantor uploader moderator facilitator presenter recorder operator interpreter translator
reviewer approver sender recipient recipients participants speakers users referrer physician doctor
pcp gp nurse caseworker guardian caregiver carer kin emergency parent mother father husband wife
spouse partner sibling sister brother daughter son child dependent friend relative roommate neighbor
teacher lawyer attorney officer pharmacy interviewer transcriber supervisor witness death deceased
died dod legal acct csn serial identifier medical chart hospital reference ref external by assignee
uid upn sso ss hausarzt arzt medecin medico historia vorname nachname geboren personalausweis steuer
krankenkasse nombre apellido apellidos dni nie curp rfc cedula seguro nom prenom secu nir nome
cognome fiscale sobrenome cpf rg naam voornaam achternaam bsn imie nazwisko pesel navn fornavn
etternavn efternamn fornamn namn personnummer cpr имя фамилия отчество паспорт снилс инн
"""),
    "contact": _set("""
email mail ph phone tel telephone mobile cell fax sms whatsapp telegram skype signal contact address
addr street city town village hometown ville ciudad stadt ort cidade citta county zip postcode
postal neighborhood neighbourhood location geo gps lat lon lng latitude longitude coordinates
twitter instagram facebook linkedin tiktok snapchat discord handle login correo telefono movil
celular cellulare direccion domicilio indirizzo endereco courriel adresse anschrift strasse plz
wohnort handy mobil adres telefoon телефон адрес почта
"""),
    "secret": _set("""
password passwd oauth refresh hash salt pwd passphrase passcode pin secret token tokens auth
authorization bearer credential credentials cookie csrf otp key keys apikey passwort kennwort
contrasena clave senha wachtwoord haslo пароль
"""),
    "place": _set("""
path bucket pdf file files folder dir directory audio video media wav attachment url urls uri link
links href website web domain webhook endpoint referer server ip mac imei udid device hostname
browser pfad datei
"""),
    "spoken": _set("""
text utterance utterances transcript transcription dialogue dialog message messages content speech
verbatim sentence sentences response input output query completion translation quote quotes excerpt
snippet preview reply answer summary note notes comment comments remark remarks title subject line
lines headline caption description abstract bio biography about story narrative body memo feedback
prompt instruction instructions greeting statement phrase highlights keywords quotation complaint
impression impressions
"""),
}
"""What fields hold that have one of these words in their names."""
WITHIN = {
    "identity": _set("""
compan birth geburt nummer naiss consent tarjeta nacimiento naissance nascita nascimento geboorte
urodzeni fodsel fodelse рожден socialsec medicalrec versicher insur passport passnummer drivers
licen ausweis firstname lastname surname fullname 姓名 名字 生日 出生 身份证 氏名 名前 生年月日 이름 성명 생년 주민
"""),
    "contact": _set("""
email phone telefon address adress zipcode postcode 电话 手机 地址 邮箱 電話 住所 전화 주소
"""),
    "secret": _set("""
passw apikey secret accesstoken authtoken 密码 暗証 비밀번호
"""),
    "place": _set("""
filepath filename useragent ipaddr ipv macaddr
"""),
}
"""The same where words are written together."""
NO_NAMES = _set("""
session group care usual control clinic therapy treatment wait waiting list phase part training
course visit week interview case study unit team day morning evening afternoon first second third
pre post test pilot baseline follow up high low medium good poor motivational interviewing cognitive
behavioral behavioural counseling counselling support centre center hospital service services north
south east west new old human model sample client therapist patient counselor practice role play
demo intake chat call supervision conversation dialogue transcript lake home online person problem
problems and the in on with without no not experience previous current past future other general
social job academic work pressure crisis breakup partner friends friend ongoing depression anxiety
anger alcohol drug drugs substance use abuse eating sleep bullying appearance grief stress trauma
pain weight smoking exercise diet medication college degree bachelor master doctoral graduate
undergraduate education married divorced widowed employed unemployed retired student full time half
self help peer text web video audio live recorded real simulated synthetic actor brief long short
standard enhanced intensive early late middle mild moderate severe minimal none very yes all both
mixed single double blind placebo active type level stage arm cohort site urban rural state
community primary secondary acute chronic outpatient inpatient residential emergency
""")
"""Words that stand in capitals in the names of groups, and in no name of a person."""
