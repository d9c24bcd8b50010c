from sqlalchemy_firebird.requirements import Requirements as R
class Requirements(R): pass
